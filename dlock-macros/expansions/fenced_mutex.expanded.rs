async fn ship() -> Result<usize, Error> {
    let __dlock_report = ::dlock::__private::Report::new(
        <Result<usize, Error> as ::dlock::FromLockError>::from_lock_error,
        <Result<usize, Error> as ::dlock::FromLockError>::is_failure,
    );
    match {
        let __dlock_request = ::dlock::__private::Request::all(
                [::dlock::__private::name("a", "a"), ::dlock::__private::name("b", "b")],
                ::dlock::__private::LockMode::Write,
            )
            .kind(::dlock::__private::LockKind::FencedMutex);
        __dlock_request.acquire().await
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            let locks = __dlock_grant.held();
            let __dlock_run = __dlock_grant
                .run(async move {
                    if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<
                        Result<usize, Error>,
                    > {
                        return __dlock_output;
                    }
                    Ok(locks.len())
                });
            match __dlock_run.await {
                ::core::result::Result::Ok(__dlock_output) => __dlock_output,
                ::core::result::Result::Err(__dlock_loss) => {
                    __dlock_report.lost(__dlock_loss)
                }
            }
        }
        ::core::result::Result::Err(__dlock_error) => {
            __dlock_report.refused(__dlock_error)
        }
    }
}
