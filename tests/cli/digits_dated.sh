# What the engine says on the calendar, of reaches and a substance that lags, to six digits. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
echo '# on the calendar, a substance that decays and lags, an hour that is likely'
cat > dated.yaml <<'END'
hydraulics: {velocity_m_s: {median: 0.8, factor: 1.1}, dispersion_m2_s: {median: 14.2, factor: 1.3}, discharge_m3_s: 29.6}
substance: {name: dye, decay_per_s: {median: 1.0e-5, factor: 1.5}, volatilisation_m_s: 1.0e-6, retardation: 1.1}
search: {mass_g: [100, 5000], location_m: [-9000, -1000], time_s: {median: 2026-03-01T02:00:00Z, sd_s: 3600}}
reaches: [{to_m: -2000, velocity_m_s: {median: 0.7, factor: 1.2}}, {to_m: 20000, velocity_m_s: {median: 0.9, factor: 1.15, local: 1.1}, dispersion_m2_s: {median: 20, factor: 1.4}}]
sensors:
  - {id: s1, location_m: 370, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, background_g_m3: 0.001, detection_limit_g_m3: 2.0e-4}
  - {id: s2, location_m: 4200, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, background_g_m3: 0.002, detection_limit_g_m3: 2.0e-4}
candidates: [{id: mill, location_m: -5700, active: [[2026-03-01T00:00:00Z, 2026-03-01T03:00:00Z]]}, {id: farm, location_m: -8000}]
none_of_these: {prior: 0.4}
intakes: [{id: town, location_m: 9000, alarm_g_m3: 0.01}]
END
headwater simulate dated.yaml --source 1234,-5670,2026-03-01T01:30:00Z --noise-relative 0.05 --every 900 > dated.csv
answer dated.yaml dated.csv --level 0.5 --seed 7
words dated.yaml dated.csv --level 0.5 --seed 7
