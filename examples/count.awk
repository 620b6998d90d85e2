# Counts the quotations and the sections by author that files in the format of the fortune program hold, by the rule
# that fortune_file.h sets out. Run it as LC_ALL=C awk -f count.awk FILE...; with -v print_all=1 it prints each
# quotation as its author, its contents and a line with %.

function author_of(line,    end, rest) {
  sub(/^[ \t]*--/, "", line)
  line = line " "                       # so that "in" and the like are words at the end, too
  for (end = 1; end <= length(line); end++) {
    rest = substr(line, end)
    if (rest ~ /^(["(\[<;:,]| (in|on|at|to) )/ && rest !~ /^, [JS]r/) break
  }
  line = substr(line, 1, end - 1)
  sub(/^[ \t]+/, "", line)
  sub(/[ \t]+$/, "", line)
  return length(line) <= 50 ? line : ""
}

function end_entry(    author) {
  if (contents ~ /[^ \t\n]/) {
    author = attribution == "" ? "" : author_of(attribution)
    objects++
    if (!(author in sections)) {
      sections[author]
      section_count++
    }
    if (print_all) printf "author: %s\n%s%%\n", author, contents
  }
  contents = attribution = ""
}

FNR == 1 { end_entry() }
{ sub(/\r$/, "") }
$0 == "%" { end_entry(); next }
{ contents = contents $0 "\n" }
/^[ \t]*-- / { attribution = $0 }
END {
  end_entry()
  if (!print_all) printf "%d objects in %d sections\n", objects, section_count
}
