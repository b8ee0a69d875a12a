# The page of results is the same bits on any number of threads, timings apart; without field data the
# synthetic parts stand alone. A short record keeps this quick; what it says is not the paper's setting.
command -v gnuplot > /dev/null || { echo 'skip: gnuplot is not installed'; exit; }
headwater reproduce --readings 12 --seeds 3 --data nowhere --out one --threads 1 --markdown one.md > one.txt
grep -c '^Fig' one.txt
grep -oE '^Fig[^:]*(holds|does not hold|undecided|in part) ' one.txt | awk '{ $1 = ""; $2 = ""; print }' | sort -u
headwater reproduce --readings 12 --seeds 3 --data nowhere --out two --threads 2 --markdown two.md > two.txt
sed '/timings begin/,/timings end/d' one/index.html > one.html
sed '/timings begin/,/timings end/d' two/index.html | cmp one.html - && echo 'the same page'
cmp one.md two.md && echo 'the same text'
for picture in 3a 3b 4 5 6a 6b; do cmp "one/figure$picture.svg" "two/figure$picture.svg"; done
grep -c 'data:image/svg' one.html
grep -oE '(src|href)="[^"]{0,12}' one.html | sort | uniq -c
echo '# what is missing is said'
grep '^! headwater' one.txt
echo '# faults'
try reproduce --readings 5
try reproduce --seeds 1
try reproduce --variant published --data nowhere
try reproduce --only figure5,figure7
echo '# a section alone is what it is on the page'
headwater reproduce --readings 12 --seeds 3 --only growth,figure5 --data nowhere --out three --markdown three.md > three.txt
for name in growth figure5; do
  for page in one three; do sed -n "/<!-- section $name -->/,/<!-- section/p" "$page.md" | sed '1d;/<!-- section/d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' > "$page.$name"; done
  cmp "one.$name" "three.$name" && wc -l < "one.$name"
done
try reproduce --readings 12 --out /dev/null/x --data nowhere
