fn add(tenant: &str, ledger: &mut Ledger) -> Result<u64, Error> {
    let __dlock_report = ::dlock::__private::Report::new(
        <Result<u64, Error> as ::dlock::FromLockError>::from_lock_error,
        <Result<u64, Error> as ::dlock::FromLockError>::is_failure,
    );
    match {
        let __dlock_request = ::dlock::__private::Request::new(
            &::core::format_args!("ledger:{__dlock_0}", __dlock_0 = tenant),
            "ledger:{tenant}",
            ::dlock::__private::LockMode::Write,
        );
        __dlock_request.acquire_blocking()
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            __dlock_grant.run_blocking(move || -> Result<u64, Error> { ledger.add(1) })
        }
        ::core::result::Result::Err(__dlock_error) => {
            __dlock_report.refused(__dlock_error)
        }
    }
}
