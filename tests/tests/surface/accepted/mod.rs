//! What the attribute accepts: each test is one shape of function, or one argument.

/// A test whose body runs in a scope with a client in memory.
macro_rules! accepted {
    ($name:ident, $body:block) => {
        accepted!($name, scope, $body);
    };
    ($name:ident, $scope:ident, $body:block) => {
        #[tokio::test]
        async fn $name() -> Result<(), dlock::Error> {
            let $scope = dlock::testing::Scope::memory().await?;
            $scope
                .run(async {
                    $body
                    Ok(())
                })
                .await
        }
    };
}

mod durations;
mod failures;
mod functions;
mod futures;
mod keys;
mod methods;
mod options;
mod surroundings;
