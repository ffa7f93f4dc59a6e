//! The drawing of the rooms.

use std::{collections::BTreeSet, fmt::Write};

use super::Table;

/// What surrounds the drawing in a page.
const OPENS: &str = "```mermaid\n";
const CLOSES: &str = "```\n";

/// The rooms, as Mermaid draws them: from the top down. An arrow that follows from others is left out, and the leaves
/// are one box.
#[must_use]
pub fn drawing(table: &Table) -> String {
    let floor = table.first_leaf;
    let below = |room: usize| -> BTreeSet<usize> {
        let imports = table.rooms[room].imports.iter();
        let mut below: BTreeSet<usize> = imports.map(|import| (*import).min(floor)).collect();
        below.extend(table.rooms[room].leaves.then_some(floor));
        below
    };
    let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); floor + 1];
    for room in (0..floor).rev() {
        // Modules further down have been looked at already.
        for next in below(room) {
            let further = reached[next].clone();
            reached[room].extend(further);
            reached[room].insert(next);
        }
    }
    let name = |room: usize| match room {
        leaf if leaf == floor => "leaves".to_owned(),
        room => table.rooms[room].name.replace('/', "_"),
    };
    let mut text = "flowchart TD\n".to_owned();
    for (at, room) in table.rooms[..floor].iter().enumerate() {
        line(&mut text, &format!("{}[\"{}\"]", name(at), room.name));
    }
    let leaves = table.rooms[floor..].iter().map(|leaf| leaf.name.as_str());
    let leaves = leaves.collect::<Vec<_>>().join(" ");
    line(&mut text, &format!("leaves([\"{leaves}\"])"));
    for room in 0..floor {
        let next = below(room);
        let follows = |to: &usize| next.iter().any(|by| reached[*by].contains(to));
        for to in next.iter().filter(|to| !follows(to)) {
            line(&mut text, &format!("{} --> {}", name(room), name(*to)));
        }
    }
    text
}

fn line(text: &mut String, what: &str) {
    writeln!(text, "  {what}").expect("text grows");
}

/// A page with this drawing in place of its own.
#[must_use]
pub fn replace_drawing(page: &str, drawing: &str) -> String {
    let (before, rest) = page.split_once(OPENS).expect("the page has a drawing");
    let (_, after) = rest.split_once(CLOSES).expect("the drawing ends");
    format!("{before}{OPENS}{drawing}{CLOSES}{after}")
}
