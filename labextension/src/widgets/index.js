// Our widgets as ipywidgets loads them: one module for all of a page. Models exist as soon as the
// kernel names them, because nothing has to be fetched for one of them.
import { DOMWidgetModel, DOMWidgetView } from "@jupyter-widgets/base";
import "../../style/card.css";
import "../../style/control_panel.css";
import { renderCard } from "./card";
import { followReadout, renderControlPanel } from "./control_panel";
import { openCard } from "./open_cards";

export class CardModel extends DOMWidgetModel {
  initialize(attributes, options) {
    super.initialize(attributes, options);
    openCard(this);
  }
}

export class ControlPanelModel extends DOMWidgetModel {
  initialize(attributes, options) {
    super.initialize(attributes, options);
    followReadout(this);
  }
}
// ipywidgets copies what it saves through JSON, which would lose the bytes of a state.
ControlPanelModel.serializers = { ...DOMWidgetModel.serializers, readout: { serialize: (state) => ({ ...state }) } };

// A view that draws with a function, which returns how to stop.
class DrawnView extends DOMWidgetView {
  render() {
    this.drawn = Promise.resolve(this.draw(this.model, this.el));
    return this.drawn;
  }
  remove() {
    void this.drawn.then((stop) => stop());
    return super.remove();
  }
}

export class CardView extends DrawnView {
  get draw() { return renderCard; }
}

export class ControlPanelView extends DrawnView {
  get draw() { return renderControlPanel; }
}
