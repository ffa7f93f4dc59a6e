//! Authorities and what they sign, made by `openssl`.

use std::path::Path;
use std::process::Command;

/// The authority `ca` with the certificates `server` (of 127.0.0.1) and `client`, and the authority `other` with
/// the certificate `stranger`.
pub(crate) fn make_certificates(folder: &Path) {
    let openssl = |arguments: &str| {
        let output = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder)
            .output()
            .expect("the openssl command is installed");
        assert!(output.status.success(), "{arguments}: {output:?}");
    };
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"
        ));
    }
    std::fs::write(folder.join("ext"), "subjectAltName=IP:127.0.0.1\n").expect("writable");
    for (name, by) in [("server", "ca"), ("client", "ca"), ("stranger", "other")] {
        openssl(&format!(
            "req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr"
        ));
        openssl(&format!(
            "x509 -req -in {name}.csr -CA {by}.pem -CAkey {by}.key -CAcreateserial -days 2 -extfile ext -out {name}.pem"
        ));
    }
}
