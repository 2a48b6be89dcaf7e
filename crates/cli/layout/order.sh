#!/bin/sh
# Writes order.ld, the order of the command's functions in memory, from what the large benchmark
# programs execute. It needs Linux on x86-64, a C compiler and `nm`, and takes half a minute:
#
#     cargo build --release && crates/cli/layout/order.sh target/release/perilune
#
# Functions that the interpreter executes come first, then those that compiling adds, each in the
# order of how many of the programs execute them. The hash at the end of a symbol is left out, as it
# depends on the version of Rust. A name that is missing or unknown costs memory and nothing else.
set -eu
binary=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

cc -O1 -w -o "$work/executed" "$here/executed.c"
nm "$binary" | awk '$2 ~ /[tT]/ && $3 ~ /^(_ZN|_R)/ { print $1, $3 }' | sort >"$work/symbols"
cut -d ' ' -f 1 "$work/symbols" | uniq >"$work/addresses"
: >"$work/off"
: >"$work/on"
for program in "$here"/../../bench/real/*.lua; do
    for jit in off on; do
        "$work/executed" "$work/addresses" "$binary" --jit=$jit "$program" \
            3>"$work/hits" >/dev/null
        sed 's/^/0000000000000000/; s/.*\(................\)$/\1/' "$work/hits" | sort -u |
            join - "$work/symbols" | cut -d ' ' -f 2 >>"$work/$jit"
    done
done

# Turns symbols into patterns for their sections, one a line, those of the most programs first.
patterns() {
    sed 's/\.[0-9]*$//; s/17h[0-9a-f]\{16\}E$/17h*/; s/Cs[0-9A-Za-z]*_/Cs*_/g' |
        LC_ALL=C sort | uniq -c | LC_ALL=C sort -k 1,1nr -k 2 | awk '{
            pattern = ".text*." $2
            if (length(pattern) > 86) { pattern = substr(pattern, 1, 84); sub(/\**$/, "*", pattern) }
            print "    *(" pattern ")"
        }'
}
{
    echo "/* The order of the command's functions in memory; written by order.sh. */"
    printf 'SECTIONS\n{\n  .text.ordered :\n  {\n'
    { patterns <"$work/off"; patterns <"$work/on"; } | awk '!seen[$0]++'
    printf '  }\n}\nINSERT BEFORE .text;\n'
} >"$work/order.ld"
mv "$work/order.ld" "$here/order.ld"
