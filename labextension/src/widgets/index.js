// Our widgets as ipywidgets loads them: one module for all of a page. Models exist as soon as the
// kernel names them, because nothing has to be fetched for one of them.
import { DOMWidgetModel, DOMWidgetView } from "@jupyter-widgets/base";
import "../../style/design.css";
import "../../style/card.css";
import "../../style/reveal.css";
import "../../style/control_panel.css";
import { arrivals } from "./arrivals";
import { renderCard } from "./card";
import { followReadout, renderControlPanel } from "./control_panel";
import { follow } from "./newest";
import { openCard } from "./open_cards";
import { coverOf, stand } from "./standing";

class ToldModel extends DOMWidgetModel {
  initialize(attributes, options) {
    super.initialize(attributes, options);
    arrivals.dispatchEvent(new Event("model"));
  }
  // Where a view fails to draw an update, ipywidgets would hand the model no other.
  async _handle_comm_msg(message) {
    try {
      await super._handle_comm_msg(message);
    } catch (problem) {
      console.error(problem);
      this.state_change = Promise.resolve();
      this.trigger("mlsys:undrawn");
    }
  }
}

export class CardModel extends ToldModel {
  initialize(attributes, options) {
    super.initialize(attributes, options);
    openCard(this);
    this.on("change:view", follow(this, () => this.get("view").number ?? 0));
  }
}

export class ControlPanelModel extends ToldModel {
  initialize(attributes, options) {
    super.initialize(attributes, options);
    followReadout(this);
  }
}
// ipywidgets copies what it saves through JSON, which would lose the bytes of a state.
ControlPanelModel.serializers = { ...DOMWidgetModel.serializers, readout: { serialize: (state) => ({ ...state }) } };

// Milliseconds until a view that could not be drawn is tried again, which doubles up to a limit.
const PAUSE = 250, LONGEST = 30000;

// A view that draws with a function, which returns how to stop. It is put on the page at once, so that
// it can say what it waits for.
class DrawnView extends DOMWidgetView {
  render() {
    this.cover = coverOf(this.model, this.el);
    this.listenTo(this.model, "mlsys:undrawn", () => void this.attempt(PAUSE));
    void this.attempt(PAUSE);
  }
  async attempt(pause) {
    clearTimeout(this.again);
    this.stop?.();
    this.stop = null;
    this.el.replaceChildren(this.cover.sentence);
    try {
      const stop = await this.draw(this.model, this.el);
      if (this.isRemoved) return stop();
      this.stop = stop;
      stand(this.model, this, "");
      this.el.querySelector(":scope > .mlsys-head")?.append(this.cover.sentence);
    } catch (problem) {
      console.error(problem);
      stand(this.model, this, `This could not be drawn (${problem.message ?? problem}). Trying again.`);
      this.again = setTimeout(() => void this.attempt(Math.min(2 * pause, LONGEST)), pause);
    }
  }
  remove() {
    this.isRemoved = true;
    clearTimeout(this.again);
    this.stop?.();
    this.cover.remove();
    stand(this.model, this, "");
    return super.remove();
  }
}

export class CardView extends DrawnView {
  get draw() { return renderCard; }
}

export class ControlPanelView extends DrawnView {
  get draw() { return renderControlPanel; }
}
