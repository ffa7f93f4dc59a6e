fn nightly() -> Result<(), Refused> {
    match {
        let __dlock_request = ::dlock::__private::Request::new(
                "nightly",
                "nightly",
                ::dlock::__private::LockMode::Write,
            )
            .try_once();
        __dlock_request.acquire_blocking()
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            __dlock_grant.run_blocking(move || -> Result<(), Refused> { clean() })
        }
        ::core::result::Result::Err(__dlock_error) => {
            ::dlock::__private::on_busy(|error| Err(Refused(error)), __dlock_error)
        }
    }
}
