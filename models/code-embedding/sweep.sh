#!/usr/bin/env bash
# Trains one table per line of options and prints their figures; the reports and tables go to $OUT.
cd "$(dirname "$0")"
n=0
while read -r line; do
  n=$((n + 1)); mkdir -p "$OUT/$n"
  echo "== $n: $line"
  python3 train.py data "$OUT/$n" $line 2>&1 | grep -E 'start|epoch (4|9|14|19|29)|int8|Error|error' 
done
