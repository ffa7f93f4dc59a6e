//! The table of rooms.

use super::{read, section};

/// A module, with what is in it: files that import from one another as they like.
#[derive(Debug, Clone)]
pub struct Room {
    /// From the crate's root, like `store/redis/wire`.
    pub name: String,
    /// The rooms it may import from, by where they are in the table.
    pub imports: Vec<usize>,
    /// Whether any leaf will do.
    pub leaves: bool,
}

/// All rooms, from the top of the house to its floor.
#[derive(Debug, Clone)]
pub struct Table {
    /// In the order of the table.
    pub rooms: Vec<Room>,
    /// The first of the leaves.
    pub first_leaf: usize,
}

impl Table {
    /// The table of `DESIGN.md`.
    #[must_use]
    pub fn of_the_design() -> Self {
        let design = read("DESIGN.md");
        Self::parse(section(&design, "The house")).unwrap_or_else(|why| panic!("DESIGN.md: {why}"))
    }

    /// Reads a table of the columns rooms, purpose, imports. The leaves are what follows the line `leaves`.
    ///
    /// # Errors
    /// An import of what is no room, or of what is not further down.
    pub fn parse(page: &str) -> Result<Self, String> {
        let rows = page.lines().filter(|line| line.starts_with('|')).skip(2);
        let mut rooms: Vec<(String, &str)> = Vec::new();
        let mut first_leaf = None;
        for row in rows {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let (names, imports) = (cells.next().unwrap_or(""), cells.nth(1).unwrap_or(""));
            if names == "leaves" {
                first_leaf = Some(rooms.len());
            }
            rooms.extend(quoted(names).map(|name| (name.to_owned(), imports)));
        }
        let at = |name: &str| rooms.iter().position(|(room, _)| room == name);
        let mut read = Vec::new();
        for (above, (name, cell)) in rooms.iter().enumerate() {
            let mut imports = Vec::new();
            for import in quoted(cell) {
                let below = at(import).ok_or_else(|| format!("{name}: {import} is no room"))?;
                if below <= above {
                    return Err(format!("{name} -> {import}: that runs back up"));
                }
                imports.push(below);
            }
            read.push(Room {
                name: name.clone(),
                imports,
                leaves: cell.split_whitespace().any(|word| word == "leaves"),
            });
        }
        Ok(Self {
            rooms: read,
            first_leaf: first_leaf.ok_or("the table has no line `leaves`")?,
        })
    }

    /// The room of a module: that of the longest name which the module's begins with.
    #[must_use]
    pub fn room_of(&self, module: &[String]) -> Option<usize> {
        (0..=module.len()).rev().find_map(|length| {
            let name = module[..length].join("/");
            self.rooms.iter().position(|room| room.name == name)
        })
    }

    /// Whether the table allows an import.
    #[must_use]
    pub fn allows(&self, from: usize, to: usize) -> bool {
        let room = &self.rooms[from];
        from == to || room.imports.contains(&to) || (room.leaves && to >= self.first_leaf)
    }

    /// Where a room is in the table.
    #[must_use]
    pub fn at(&self, name: &str) -> usize {
        let at = self.rooms.iter().position(|room| room.name == name);
        at.unwrap_or_else(|| panic!("{name} is no room"))
    }
}

/// What stands in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}
