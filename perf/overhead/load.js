// Follows links of a shortener at a constant rate, independent of its response times.
// Environment: PORT, RATE (requests a second), DURATION (seconds).
import http from 'k6/http';

const base = `http://127.0.0.1:${__ENV.PORT}`;
const CODES = 100;

export const options = {
  scenarios: {
    follow: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: `${__ENV.DURATION}s`,
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
  },
  summaryTrendStats: ['med', 'p(99)', 'max'],
  discardResponseBodies: true,
};

export function setup() {
  const codes = [];
  for (let i = 0; i < CODES; i++) {
    const answer = http.post(`${base}/links`, `https://example.com/page/${i}`, {
      responseType: 'text',
    });
    codes.push(answer.body);
  }
  return codes;
}

export default function (codes) {
  const code = codes[Math.floor(Math.random() * CODES)];
  http.get(`${base}/${code}`, { redirects: 0, tags: { name: 'follow' } });
}

export function handleSummary(data) {
  const value = (metric, key) => (data.metrics[metric] ? data.metrics[metric].values[key] : 0);
  const line =
    `requests=${value('http_reqs', 'count')} failed=${value('http_req_failed', 'passes')}` +
    ` dropped=${value('dropped_iterations', 'count')}` +
    ` p50=${value('http_req_duration', 'med')} p99=${value('http_req_duration', 'p(99)')}` +
    ` max=${value('http_req_duration', 'max')}\n`;
  return { stdout: line };
}
