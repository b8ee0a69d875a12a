# Plans, regrets, checks and simulated readings, to six digits. `make digits` writes it anew.
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 900 --noise-relative 0.05 --noise-absolute 1e-5 > readings.csv
echo '# simulated'; digits < readings.csv
echo '# regret'; headwater regret data/river.yaml readings.csv --methods atgd,mtgd --starts 3 --threads 1 | digits
echo '# could they tell?'; headwater check data/river.yaml --places 3 --format json | digits
headwater check data/river.yaml readings.csv --places 2 --format json | digits
headwater check data/river.yaml readings.csv --places 4 | digits
echo '# all methods beside the truth'
headwater compare data/river.yaml readings.csv --methods atgd,backward,tgd --truth 1234,-5670,-9000 --format json | digits
echo '# how many'; headwater plan data/river.yaml --spread 50,500,300 --source 1300,-5670,-9000 --format json | digits
headwater plan data/river.yaml --readings 30 --pool 5 --accept 2000,4000,9000 --format json | digits
echo '# where'; headwater plan data/river.yaml --place 2 --sites -4000,4200,6 --sources 20 --format json | digits
headwater plan data/river.yaml --place 3 --sites -4000,4200,6 --sources 20 | digits
headwater plan data/confluence.yaml --place 2 --beside --pool 9 --sources 30 --format json | digits
headwater plan data/confluence.yaml --place 2 --pool 9 --sources 30 | digits
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
headwater plan unknown.yaml --place 1 --sites -4000,4200,4 --sources 8 --format json | digits
