# Sourced by the other scripts, which set root. Finds the JDK, Maven, Prometheus, Docker, Node.js and
# Chromium, or prints how to install them.

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  shift
  for line in "$@"; do
    printf '  %s\n' "$line" >&2
  done
  exit 1
}

# The project's version.
version=$(sed -n '/<version>/{s/.*<version>\(.*\)<.version>.*/\1/p;q;}' "$root/pom.xml")

# Prints the major version of the JDK at $1; nothing if there is no JDK.
jdk_major() {
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

# Sets JAVA_HOME to a JDK 25 or newer: JAVA_HOME, then the java on PATH, then the usual folders.
find_jdk() {
  local candidates=() on_path major home
  [ -n "${JAVA_HOME:-}" ] && candidates+=("$JAVA_HOME")
  if on_path=$(command -v javac); then
    candidates+=("$(dirname "$(dirname "$(readlink -f "$on_path")")")")
  fi
  for home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/*jdk* "$HOME"/.jdks/* \
    "$HOME"/.sdkman/candidates/java/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    [ -d "$home" ] && candidates+=("$home")
  done
  for home in "${candidates[@]}"; do
    major=$(jdk_major "$home")
    if [ -n "$major" ] && [ "$major" -ge 25 ]; then
      export JAVA_HOME=$home
      return
    fi
  done
  fail "requires JDK 25 or newer; none found in JAVA_HOME, on PATH or in the usual folders." \
    "Install one, for example Temurin 25 (Debian/Ubuntu package temurin-25-jdk, or an unpacked" \
    "archive), and set JAVA_HOME to its folder."
}

# Checks Maven, and removes what it built in other versions.
find_maven() {
  command -v mvn >/dev/null ||
    fail "requires Maven 3.8 or newer; no mvn on PATH." \
      "Install it, for example: apt-get install maven"
  local maven jar
  maven=$(mvn --version 2>/dev/null | sed -n 's/.*Apache Maven \([0-9]*\.[0-9]*\).*/\1/p')
  case $maven in
    3.[89] | 3.[1-9][0-9] | [4-9].*) ;;
    *) fail "requires Maven 3.8 or newer; $(command -v mvn) has ${maven:-an unknown version}." ;;
  esac
  # The scripts find jars by patterns, and take all libraries of a folder.
  for jar in "$root"/*/target/*.jar "$root"/*/*/target/*.jar; do
    case $jar in
      *-"$version".jar | *-"$version"-exec.jar | *-"$version"-tests.jar) ;;
      *) rm -rf "$jar" "${jar%/*}/lib" ;;
    esac
  done
  # Silences warnings of newer JDKs about older Maven versions.
  export MAVEN_OPTS="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}"
}

# The modules that trace-etl-server/app is built from, in addition to itself.
server_modules=(proto common trace-etl-server trace-etl-server/core trace-etl-server/features trace-etl-server/ozhera)

# build_if_stale MODULE STAMP NEEDED...: builds a module and the modules that it needs, unless the
# file STAMP is newer than all their sources.
build_if_stale() {
  local module=$1 stamp=$2 needed sources=("$root/pom.xml")
  shift 2
  for needed in "$module" "$@"; do
    sources+=("$root/$needed/pom.xml")
    # An aggregator has no sources.
    if [ -d "$root/$needed/src/main" ]; then
      sources+=("$root/$needed/src/main")
    fi
  done
  if [ -e "$stamp" ] && [ -z "$(find "${sources[@]}" -newer "$stamp" -print -quit)" ]; then
    return
  fi
  local log=$root/.cache/${module//\//-}-build.log started=$SECONDS
  mkdir -p "$root/.cache"
  find_maven
  printf 'Building (the first build fetches libraries and takes minutes) ' >&2
  (cd "$root" && exec mvn -B -pl "$module" -am package -DskipTests -Dspotless.check.skip=true) >"$log" 2>&1 &
  local maven=$!
  # shellcheck disable=SC2064
  trap "kill $maven 2>/dev/null" EXIT
  while kill -0 "$maven" 2>/dev/null; do
    printf '.' >&2
    sleep 2
  done
  trap - EXIT
  if ! wait "$maven"; then
    printf ' failed\n' >&2
    grep '^\[ERROR\]' "$log" | head -n 20 >&2
    fail "the build failed; see $log"
  fi
  printf ' done in %d s\n' $((SECONDS - started)) >&2
  touch "$stamp"
}

# Unpacks Debian's prometheus package into .cache/, without root.
unpack_prometheus() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
  local cache=$root/.cache folder=$root/.cache/prometheus-package
  rm -rf "$folder"
  mkdir -p "$folder"
  (
    cd "$folder"
    apt-get download prometheus >apt.log 2>&1 ||
      { [ "$(id -u)" = 0 ] && apt-get update >apt.log 2>&1 &&
        apt-get download prometheus >>apt.log 2>&1; }
  ) || return 1
  dpkg -x "$folder"/prometheus_*.deb "$cache/prometheus"
}

# Sets prometheus and promtool to the programs on PATH or in .cache/.
find_prometheus() {
  if prometheus=$(command -v prometheus) && promtool=$(command -v promtool); then
    return
  fi
  prometheus=$root/.cache/prometheus/usr/bin/prometheus
  promtool=$root/.cache/prometheus/usr/bin/promtool
  if [ ! -x "$prometheus" ]; then
    echo "Fetching Prometheus into .cache/prometheus" >&2
    unpack_prometheus ||
      fail "requires prometheus and promtool on PATH, and failed to fetch the Debian package." \
        "Install Prometheus 2.42 or newer: apt-get install prometheus, or the archive of the project."
  fi
}

# Checks that the docker command reaches a daemon; without buildx uses the classic builder.
find_docker() {
  command -v docker >/dev/null ||
    fail "requires Docker; no docker on PATH." "Install it: apt-get install docker.io"
  docker info >/dev/null 2>&1 ||
    fail "the docker command reaches no daemon: $(docker info 2>&1 | tail -n 1)" \
      "Start one, or set DOCKER_HOST to its address."
  docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0
}

# run_container_tests GROUP JDK_IMAGE TAG [BEFORE]: runs the tests of module perf with JUnit tag GROUP. They
# need Docker and the project's images with tags TAG and BEFORE; other images are built on JDK_IMAGE.
run_container_tests() {
  local group=$1 log=$root/.cache/$1.log tag image
  for tag in "$3" ${4:+"$4"}; do
    for image in "trace-etl/log-agent:$tag" "trace-etl/server:$tag"; do
      docker image inspect "$image" >/dev/null 2>&1 ||
        fail "image $image does not exist." "Build it: bin/images --unpinned, or without a registry bin/images --base debootstrap"
    done
  done
  # The tests remove their containers themselves; the image of Ryuk may not be available.
  export TESTCONTAINERS_RYUK_DISABLED=${TESTCONTAINERS_RYUK_DISABLED:-true}
  if [[ ${DOCKER_HOST:-unix:} = unix:* ]]; then
    export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1
  fi
  printf 'Building ...\n' >&2
  rm -rf "$root/perf/target/lib"
  (cd "$root" && mvn -B -q -pl perf -am package -DskipTests -Dspotless.check.skip=true) \
    >"$log" 2>&1 || fail "the build failed; see $log"
  # Prints only the tests' own lines. Maven does not compile again.
  (cd "$root" && mvn -B -pl perf -am test -Dspotless.check.skip=true \
    -Dmaven.compiler.useIncrementalCompilation=false -Dtest='Containers*Test' \
    -Dsurefire.failIfNoSpecifiedTests=false -Dgroups="$group" -DexcludedGroups=none \
    -Dtraceetl.jdk-image="$2" -Dtraceetl.image-tag="$3" -Dtraceetl.image-tag-before="${4:-}") 2>&1 | tee -a "$log" |
    sed -n -u 's/^containers: //p' ||
    fail "the tests failed; see $log"
}

find_node() {
  command -v node >/dev/null && command -v npm >/dev/null ||
    fail "requires Node.js 20 or newer with npm; none on PATH." \
      "Install it, for example: apt-get install nodejs npm"
  local version
  version=$(node --version)
  version=${version#v}
  [ "${version%%.*}" -ge 20 ] || fail "requires Node.js 20 or newer; $(command -v node) has version $version."
}

# Sets chromium to the browser.
find_chromium() {
  local name
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && chromium=$(command -v "$name"); then
      return
    fi
  done
  fail "requires Chromium; none in CHROMIUM or on PATH." \
    "Install it, for example: apt-get install chromium"
}
