use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

struct Ledger {
    tenant: String,
    lines: Vec<u64>,
}

impl Ledger {
    #[distributed_lock(key = "ledger:{self.tenant}", guard = lock)]
    fn add(&mut self, line: u64) -> Result<&mut u64, Error> {
        lock.check()?;
        self.lines.push(line);
        let last = self.lines.len() - 1;
        Ok(&mut self.lines[last])
    }

    #[distributed_lock(key = "ledger:{self.tenant}")]
    fn into_lines(self) -> Result<Vec<u64>, Error> {
        Ok(self.lines)
    }
}

#[distributed_lock(keys = ["a", "b"], wait = "1s", mode = "read")]
fn both(text: &str) -> Result<u64, Box<dyn std::error::Error>> {
    if text.is_empty() {
        return Ok(0);
    }
    Ok(text.parse::<u64>()? + inner()?)
}

#[distributed_lock(key = "a", mode = "read")]
fn inner() -> Result<u64, Error> {
    Ok(1)
}

#[distributed_lock(key = "job", wait = "none", on_busy = ())]
fn job() {}

#[test]
fn accepted() -> Result<(), Box<dyn std::error::Error>> {
    let scope = Scope::new(dlock::blocking::Client::connect("memory://")?);
    scope.run_blocking(|| {
        let mut ledger = Ledger {
            tenant: "t".to_owned(),
            lines: Vec::new(),
        };
        *ledger.add(7)? += 1;
        assert_eq!(ledger.into_lines()?, [8]);
        assert_eq!(both("41")?, 42);
        assert_eq!(both("")?, 0);
        job();
        Ok(())
    })
}
