#!/bin/sh
# manual_statuses.sh SOURCE: the manual's table of statuses is the list of status.h, and its stop reasons are those
# of estimate.h.
set -u
listed=$(mktemp)
trap 'rm -f "$listed"' EXIT
status=0
{
  sed -n 's/^  X(\(HW_[A-Z]*\), *\(-*[0-9]*\), "\(.*\)").*/| `\1` | \2 | \3 |/p' "$1/include/headwater/status.h"
  sed -n 's/^  X(\(HW_STOP_[A-Z_]*\), *"\(.*\)").*/| `\1` | \2 |/p' "$1/include/headwater/estimate.h"
} > "$listed"
[ "$(wc -l < "$listed")" -ge 15 ] || { echo "only $(wc -l < "$listed") rows found in the headers"; status=1; }
while IFS= read -r row; do
  grep -qF "$row" "$1/docs/manual.md" || { echo "missing in docs/manual.md: $row"; status=1; }
done < "$listed"
exit $status
