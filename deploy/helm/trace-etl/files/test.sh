# Sends a span to an agent, OTLP over HTTP, and waits until a server has counted it.
set -uo pipefail
name="helm-test-$(date +%s)-$RANDOM"

# request METHOD URL TOKEN [BODY]: prints status line, headers and body
request() {
  local method=$1 url=$2 token=$3 body=${4:-} rest host path
  rest=${url#*://}
  host=${rest%%/*} path=/${rest#*/}
  if command -v curl >/dev/null; then
    # The test checks the path of a span, not the certificates.
    curl --silent --show-error --insecure --include --max-time 20 --request "$method" \
      ${token:+--header "Authorization: Bearer $token"} \
      ${body:+--header 'Content-Type: application/json' --data "$body"} "$url"
    return
  fi
  {
    exec 3<>"/dev/tcp/${host%:*}/${host##*:}" || return 1
  } 2>/dev/null
  {
    printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n' "$method" "$path" "$host"
    [ -z "$token" ] || printf 'Authorization: Bearer %s\r\n' "$token"
    [ -z "$body" ] || printf 'Content-Type: application/json\r\nContent-Length: %d\r\n' "${#body}"
    printf '\r\n%s' "$body"
  } >&3
  timeout 20 cat <&3
  exec 3>&-
}

case "$OTLP $WEB" in
  *https:*)
    command -v curl >/dev/null || {
      echo "FAILED: $OTLP or $WEB uses TLS: set test.image to an image that has bash and curl"
      exit 2
    }
    ;;
esac

trace=$(printf '%08x%08x%08x%08x' $RANDOM$RANDOM $RANDOM $RANDOM$RANDOM $RANDOM)
now=$(date +%s)
span='{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"'$name'"}}]},
"scopeSpans":[{"spans":[{"traceId":"'${trace:0:32}'","spanId":"00f067aa0ba902b7","name":"helm test","kind":2,
"startTimeUnixNano":"'$now'000000000","endTimeUnixNano":"'$now'010000000"}]}]}]}'

token=$(printf '%s\n' "${OTLP_TOKENS:-}" | sed -n 1p)
echo "Sending a span of $name to $OTLP"
for attempt in $(seq 30); do
  answer=$(request POST "$OTLP/v1/traces" "$token" "$span")
  case $answer in
    HTTP/*' 200'*) break ;;
  esac
  echo "attempt $attempt: ${answer:-no answer}" | head -n 1
  [ "$attempt" -lt 30 ] || { echo "FAILED: no agent accepted the span"; exit 1; }
  sleep 2
done

echo "Looking for it at $WEB"
for attempt in $(seq 60); do
  answer=$(request GET "$WEB/api/history?application=$name&minutes=5" "${WEB_TOKEN:-}")
  if printf '%s' "$answer" | grep -Eq '"calls" *: *1[^0-9]'; then
    echo "PASSED: the span is counted once"
    exit 0
  fi
  sleep 2
done
printf '%s\n' "$answer" | tail -n 5
echo "FAILED: the span is not counted after two minutes; check /ready of the servers and /health of the agents"
exit 1
