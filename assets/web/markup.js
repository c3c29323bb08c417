/* Draws what is only text and elements of HTML without Dash, which tells every component of its own of every change. */
(function () {
  "use strict";
  function drawn(part) {
    if (Array.isArray(part)) { return part.map(drawn); }
    if (!part || !part.props) { return part; }
    const {children, ...props} = part.props, inside = Array.isArray(children) ? children : [children];
    return React.createElement(part.type.toLowerCase(), props, ...inside.map(drawn));
  }
  window.neurontop = {Markup: ({tree}) => drawn(tree)};
})();
