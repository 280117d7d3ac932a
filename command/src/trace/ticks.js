// Round times between two times, each with words that no other has. Where the zoom is so deep that the whole time would be too
// long a word, the ticks count from the first one, whose whole time stands in `base`.
function ticks(from, to, most) {
  const rough = (to - from) / Math.max(2, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, Math.round([1, 2, 5, 10].map(n => n * power).find(step => step >= rough * 0.999999)));
  const first = Math.ceil(from / step) * step, places = [];
  for (let n = 0; first + n * step <= to; n++) places.push(first + n * step);
  const [unit, per] = unitOf(Math.max(Math.abs(from), Math.abs(to)));
  const digits = Math.max(0, Math.ceil(Math.log10(per / step) - 1e-9));
  const exact = time => time === 0 ? "0" : (time / per).toFixed(digits) + " " + unit;
  if (digits <= 4 || places.length === 0) return { base: "", ticks: places.map(time => [time, exact(time)]) };
  const [small, each] = unitOf((places.length - 1) * step);
  const less = Math.max(0, Math.ceil(Math.log10(each / step) - 1e-9));
  return { base: exact(first), ticks: places.map((time, n) => [time, "+" + (n * step / each).toFixed(less) + " " + small]) };
}
function unitOf(ns) {
  return ns < 1e3 ? ["ns", 1] : ns < 1e6 ? ["us", 1e3] : ns < 1e9 ? ["ms", 1e6] : ["s", 1e9];
}
