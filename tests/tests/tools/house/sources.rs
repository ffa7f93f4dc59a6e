//! The files of the library and of the command-line tool.

use std::path::Path;

use dlock_tests::house::in_repository;

use crate::house::arrows::Sources;

/// All of them.
pub(crate) fn all() -> Sources {
    let mut sources = library();
    let tool = in_repository("dlock/cli/src");
    collect(
        &tool,
        tool.parent().expect("it is in a folder"),
        &mut sources,
    );
    sources
}

/// The sources of the library.
pub(crate) fn library() -> Sources {
    let mut sources = Sources::new();
    let root = in_repository("dlock/src");
    collect(&root, &root, &mut sources);
    sources
}

fn collect(root: &Path, folder: &Path, sources: &mut Sources) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("it is in there");
            let name = name.to_str().expect("names are text").to_owned();
            let text = std::fs::read_to_string(&path).expect("sources are text");
            sources.insert(name, text);
        }
    }
}
