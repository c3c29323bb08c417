/* What Dash's scripts take from the library for browsers before 2018, which index.py leaves out: generators as tables
   of steps. None of theirs catches or breaks off; one that did would fail loudly here, for want of a method. */
(function () {
  "use strict";
  function steps(inner, self) {
    const place = {prev: 0, next: 0, sent: undefined, done: false, stop: () => { place.done = true; }};
    return {
      next: (sent) => {
        place.sent = sent;
        return {value: place.done ? undefined : inner.call(self, place), done: place.done};
      },
      throw: (problem) => { place.done = true; throw problem; },
    };
  }
  window.regeneratorRuntime = window.regeneratorRuntime ||
    {mark: (generator) => generator, wrap: (inner, _outer, self) => steps(inner, self)};
})();
