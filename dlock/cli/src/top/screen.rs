//! The terminal: keys in, pictures out.

use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use tokio::sync::{mpsc, watch};

use super::model::Picture;
use super::view::View;
use crate::exit::Failure;

/// How soon the reader of keys notices that the screen is closed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Shows pictures until the user leaves.
pub(super) async fn show(
    place: String,
    pictures: &mut watch::Receiver<Picture>,
) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init()?;
    let (sender, mut keys) = mpsc::channel(16);
    let reader = std::thread::spawn(move || read(&sender));
    let mut view = View::new(place);
    let outcome = loop {
        let picture = pictures.borrow_and_update().clone();
        view.take(picture);
        if let Err(error) = terminal.draw(|frame| view.draw(frame)) {
            break Err(error.into());
        }
        tokio::select! {
            changed = pictures.changed() => {
                if changed.is_err() {
                    break Err(Failure::from(std::io::Error::other("the looking ended")));
                }
            }
            key = keys.recv() => match key {
                Some(Event::Key(key)) if key.kind == KeyEventKind::Press => {
                    let interrupted = key.modifiers.contains(KeyModifiers::CONTROL)
                        && key.code == KeyCode::Char('c');
                    if interrupted || !view.press(key.code) {
                        break Ok(());
                    }
                }
                Some(_) => {}
                None => break Ok(()),
            }
        }
    };
    drop(keys);
    // It looks up within its patience; whether it panicked does not matter any more. Only then the terminal gets its
    // lines back: a key that comes now would leave the reader waiting for the end of one.
    let _ = reader.join();
    ratatui::restore();
    outcome
}

/// Reads what the terminal sends, in a thread of its own: reading blocks.
fn read(sender: &mpsc::Sender<Event>) {
    while !sender.is_closed() {
        match event::poll(PATIENCE) {
            Ok(false) => {}
            Ok(true) => {
                let Ok(event) = event::read() else { return };
                if sender.blocking_send(event).is_err() {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}
