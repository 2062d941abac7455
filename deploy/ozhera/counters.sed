# Makes a dashboard for deltas, or a file of rules, one for counters under the same names:
#   sed -E -f counters.sed dashboard.json > dashboard-counters.json
# 30 s have two samples at most, too few for rate(): the rate of a minute stands in their place.
s/sum_over_time\(([^][]*)\[30s\]\)/(rate(\1[1m]) * 30)/g
s/sum_over_time\(/increase(/g
s/_without_methodName_(bucket|sum|count)/_\1/g
