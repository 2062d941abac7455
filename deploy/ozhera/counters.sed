# Converts a dashboard or a rules file for deltas into one for counters of the same names:
#   sed -E -f counters.sed dashboard.json > dashboard-counters.json
# 30 s have at most two samples, too few for rate(), so the rate of a minute replaces them.
s/sum_over_time\(([^][]*)\[30s\]\)/(rate(\1[1m]) * 30)/g
s/sum_over_time\(/increase(/g
s/_without_methodName_(bucket|sum|count)/_\1/g
