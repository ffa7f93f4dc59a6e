# What the scripts share; to be sourced by bash.

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { say "$*" >&2; exit 1; }

# Where the simulation is built, which has a configuration of its own.
sim_target() { printf '%s\n' "${CARGO_TARGET_DIR:-$PWD/tests/sim/target}${CARGO_TARGET_DIR:+/sim}"; }

# Whether a program listens on port $1 of this machine.
in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# await WHAT COMMAND...: waits until the command succeeds, and says what `why` knows when that takes too long.
await() {
  local what=$1 limit=60
  local deadline=$((SECONDS + limit))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || die "waited $limit s in vain: $what$(why)"
    sleep 0.1
  done
}
why() { :; }

need_redis() { need_package redis-server redis-server redis-cli; }
need_prometheus() { need_package prometheus prometheus promtool; }

# Makes sure that the Debian package $1 has brought the commands that follow, installing it where that is possible.
need_package() {
  local package=$1 missing=() command
  shift
  for command; do command -v "$command" >/dev/null || missing+=("$command"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  local how="install the package, for example: apt-get install $package"
  command -v apt-get >/dev/null || die "${missing[*]}: missing; $how"
  [ "$(id -u)" = 0 ] || die "${missing[*]}: missing; $how (as root)"
  say "installing $package"
  # The package starts a service on its usual port, which nothing here needs. A policy-rc.d that says no keeps it
  # from starting, with any init system; one that is there already belongs to the machine.
  local policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=; else
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
  fi
  local installed=0
  apt_install "$package" || { apt-get -q update && apt_install "$package"; } || installed=$?
  [ -z "$policy" ] || rm -f "$policy"
  [ "$installed" = 0 ] || die "apt-get could not install $package; $how"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" >/dev/null
}

# node_redlock FOLDER: has npm fetch node-redlock, and prints where node finds it.
node_redlock() {
  need_package nodejs node >&2
  need_package npm npm >&2
  npm install --silent --no-audit --no-fund --prefix "$1" redlock@5.0.0-beta.2 ioredis >&2 ||
    [ -d "$1/node_modules/redlock" ] || die 'npm could not install redlock and ioredis'
  printf '%s\n' "$1/node_modules"
}

# Tests mostly wait for servers, so one core can carry two; many more would make their deadlines tight.
threads() {
  local cores
  cores=$(nproc 2>/dev/null || echo 2)
  echo $((cores < 3 ? 3 : cores > 4 ? 4 : cores))
}

# fresh_copy DIR PATH...: makes DIR hold these parts of the repository, and touches only what differs, so that only that is
# built anew.
fresh_copy() {
  local copy=$1 path
  shift
  mkdir -p "$copy/tests"
  for path in "$@"; do
    if ! diff -rq "$path" "$copy/$path" >/dev/null 2>&1; then
      rm -rf "${copy:?}/$path"
      mkdir -p "$(dirname "$copy/$path")"
      cp -R "$path" "$copy/$path"
    fi
  done
}

# apply_patch FILE DIR: applies a patch to such a copy, which git is not to take for the repository.
apply_patch() {
  local file
  file=$(realpath "$1")
  (cd "$2" && GIT_CEILING_DIRECTORIES=$(dirname "$PWD") git apply --whitespace=nowarn "$file")
}

# try_patch FILE [OPTION...]: fails unless judges object to a copy with the patch. The script's own `run_patched` returns 0 if
# they do not, 1 if they do, and something else if the patch cannot be applied or built.
try_patch() {
  local code=0
  [ -f "$1" ] || die "$1: no such file"
  run_patched "$@" || code=$?
  case $code in
    0) die "$1: judges do not object" ;;
    1) say "$1: judges object" ;;
    *) die "$1: does not apply or build any more" ;;
  esac
}
