# What the scripts share; to be sourced by bash.

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { say "$*" >&2; exit 1; }

# Makes sure that redis-server and redis-cli are there, installing them where that is possible.
need_redis() {
  if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then return; fi
  local how='install them, for example: apt-get install redis-server'
  command -v apt-get >/dev/null || die "redis-server and redis-cli are missing; $how"
  [ "$(id -u)" = 0 ] || die "redis-server and redis-cli are missing; $how (as root)"
  say 'installing redis-server'
  # The package starts a service on port 6379, which nothing here needs. A policy-rc.d that says no keeps it from
  # starting, with any init system; one that is there already belongs to the machine.
  local policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=; else
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
  fi
  local installed=0
  apt_install redis-server || { apt-get -q update && apt_install redis-server; } || installed=$?
  [ -z "$policy" ] || rm -f "$policy"
  [ "$installed" = 0 ] || die "apt-get could not install redis-server; $how"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" >/dev/null
}
