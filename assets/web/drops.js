/* The place of the idle page that takes a log: a file is sent to the server, which shows it to this browser alone. */
(function () {
  "use strict";
  const prefix = document.currentScript.src.replace(/assets\/[^/]*$/, "").replace(/^https?:\/\/[^/]+/, "");
  const zoneOf = (event) => event.target.closest && event.target.closest("#drop-zone");
  let sending = false;

  function say(text, bad) {
    const place = document.getElementById("drop-words");
    if (place) { place.textContent = text; place.classList.toggle("bad", Boolean(bad)); }
  }

  async function send(file) {
    const most = Number(document.getElementById("drop-zone").dataset.most);
    if (sending || !file) { return; }
    if (file.size > most) {
      say(file.name + " has " + Math.ceil(file.size / 2 ** 20) + " MiB; a dropped log may have " + most / 2 ** 20 +
        " MiB. In a terminal, neurontop watch FILE reads files of any size.", true);
      return;
    }
    sending = true;
    say("Reading " + file.name + " …");
    try {
      const terms = new URLSearchParams({name: file.name, modified: file.lastModified});
      const answer = await fetch(prefix + "dropped?" + terms,
        {method: "POST", body: file, headers: {"content-type": "application/octet-stream"}});
      const reply = await answer.json();
      if (answer.ok) { say(""); window.neurontopJobs.choose(reply.run); }
      else { say("Not opened: " + reply.error, true); }
    } catch (error) { say("Not opened: the file did not reach the server. Try again.", true); }
    sending = false;
  }

  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      const zone = zoneOf(event);
      if (!zone) { return; }
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => { zoneOf(event)?.classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    const zone = zoneOf(event);
    if (!zone) { return; }
    event.preventDefault();
    zone.classList.remove("over");
    const files = event.dataTransfer.files;
    if (files.length > 1) { say("One file at a time: the first of them is opened."); }
    send(files[0]);
  });
  document.addEventListener("click", (event) => {
    if (event.target.id !== "drop-choose") { return; }
    const chooser = document.createElement("input");
    chooser.type = "file";
    chooser.addEventListener("change", () => send(chooser.files[0]));
    chooser.click();
  });
})();
