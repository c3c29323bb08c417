/* How numbers read in the grids: the same words as units.py. Named here, because no code comes from the page's data. */
(function () {
  "use strict";
  const known = (value) => value !== null && value !== undefined && value !== "";
  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  functions.bytesText = (value) => {
    if (!known(value)) { return "—"; }
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let size = value, unit = 0;
    while (Math.abs(size) >= 999.5 && unit < units.length - 1) { size /= 1024; unit += 1; }
    return (unit === 0 || Math.abs(size) >= 99.95 ? size.toFixed(0) : size.toFixed(1)) + " " + units[unit];
  };
  functions.secondsText = (value) => {
    if (!known(value)) { return "—"; }
    if (value < -0.0005) { return "-" + functions.secondsText(-value); }
    if (value < 0.9995) { return (Math.max(value, 0) * 1000).toFixed(0) + " ms"; }
    if (value < 59.95) { return value.toFixed(1) + " s"; }
    const whole = Math.round(value), pad = (n) => String(n).padStart(2, "0");
    if (whole < 3600) { return Math.floor(whole / 60) + " m " + pad(whole % 60) + " s"; }
    if (whole < 86400) { return Math.floor(whole / 3600) + " h " + pad(Math.floor((whole % 3600) / 60)) + " m"; }
    if (whole >= 864000) { return Math.floor(whole / 86400).toLocaleString("en") + " d"; }
    return Math.floor(whole / 86400) + " d " + pad(Math.floor((whole % 86400) / 3600)) + " h";
  };
  functions.usedText = (value, row) => {
    const text = functions.secondsText(value);
    return !known(value) || known(row && row.used) ? text : "written " + text.split(" ").slice(0, 2).join(" ");
  };
  /* What tells keys of graphs apart comes first; the whole key shows on hover. */
  functions.keyText = (value) => (known(value) ? String(value).replace(/^MODULE_/, "") : "");
  functions.shareText = (value) => {
    if (!known(value)) { return "—"; }
    const percent = value * 100, size = Math.abs(percent);
    return percent.toFixed(size > 0 && size < 9.95 ? 1 : 0) + " %";
  };
  functions.minuteText = (value) =>
    known(value) ? new Date(value * 1000).toISOString().replace("T", " ").slice(0, 16) : "—";
})();
