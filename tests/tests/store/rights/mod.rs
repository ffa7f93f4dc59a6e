//! What a user has to be allowed: exactly what errors and SECURITY.md say, and nothing else.

mod exercise;
mod least;
mod messages;
mod mutexes;
mod site;
mod superfluous;
