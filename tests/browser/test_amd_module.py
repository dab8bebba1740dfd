"""The widgets on pages that load no Lab extensions: an AMD module that brings its style along."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.needs("chromium")

# As much of ipywidgets as a model and a view use, with RequireJS reduced to one module.
HOST = """() => {
  class DOMWidgetModel {
    initialize(attributes, { widget_manager }) {
      Object.assign(this, { attributes, widget_manager, handlers: [], sent: [] });
      Object.assign(this, { model_id: 'one', comm_live: true, state_change: Promise.resolve() });
    }
    get(name) { return this.attributes[name]; }
    set(name, value) { this.attributes[name] = value; this.trigger(`change:${name}`); }
    on(name, then) { this.handlers.push([name, then]); }
    once(name, then) { this.on(name, then); }
    off(name, then) { this.handlers = this.handlers.filter(([, each]) => each !== then); }
    trigger(name, ...more) {
      for (const [each, then] of this.handlers) if (each === name) then(...more);
    }
    async _handle_comm_msg(state) {
      this.state_change = this.state_change.then(() => {
        for (const [name, value] of Object.entries(state)) this.set(name, value);
      });
      return this.state_change;
    }
    send(content) { this.sent.push(content); }
    save_changes() {}
  }
  DOMWidgetModel.serializers = {};
  class DOMWidgetView {
    listenTo(model, name, then) { model.on(name, then); }
    remove() { this.el.remove(); }
  }
  window.define = (names, make) => {
    window.needed = names;
    window.widgets = make({ DOMWidgetModel, DOMWidgetView });
  };
  window.card = (number, title, ...parts) =>
    ({ number, kind: 'Lab', tone: 'red', title, label: title, parts });
  window.show = (first) => {
    const model = new widgets.CardModel();
    model.initialize({ drafts: {}, view: first }, { widget_manager: {} });
    const view = new widgets.CardView();
    Object.assign(view, { model, el: document.createElement('div') });
    document.body.append(view.el);
    view.render();
    return { model, view };
  };
}"""


@pytest.fixture
def host(browser, root):
    page = browser.new_page()
    page.evaluate(HOST)
    page.add_script_tag(path=root / "mlsys_widgets" / "nbextension" / "index.js")
    yield page
    page.close()


def test_models_and_views_are_defined(host):
    assert host.evaluate("needed") == ["@jupyter-widgets/base"]
    names = ["CardModel", "CardView", "ControlPanelModel", "ControlPanelView"]
    assert host.evaluate("Object.keys(widgets).sort()") == names


def test_a_card_is_drawn_in_its_style_and_follows(host):
    prose = "{ kind: 'prose', key: 'text', html: 'Ring it.' }"
    host.evaluate(f"() => {{ shown = show(card(1, 'A bell', {prose})) }}")
    host.get_by_role("heading", name="A bell").wait_for()
    frame = host.locator(".mlsys-lab-frame")
    assert frame.evaluate("frame => getComputedStyle(frame).position") == "relative"
    host.evaluate("() => { shown.model._handle_comm_msg({ view: card(2, 'Rung') }) }")
    host.get_by_role("heading", name="Rung").wait_for()


UNKNOWN = "{ kind: 'unheard of', key: 'text' }"


def test_a_view_that_cannot_be_drawn_says_so_and_tries_again(host):
    host.evaluate(f"() => {{ shown = show(card(1, 'A bell', {UNKNOWN})) }}")
    cover = host.get_by_role("status").filter(has_text="This could not be drawn")
    cover.wait_for()
    host.evaluate("() => { shown.model.get('view').parts = [] }")
    host.get_by_role("heading", name="A bell").wait_for()
    cover.wait_for(state="hidden")


def test_an_update_that_cannot_be_drawn_covers_the_card_and_stops_no_other(host):
    host.evaluate("() => { shown = show(card(1, 'A bell')) }")
    host.get_by_role("heading", name="A bell").wait_for()
    host.evaluate(f"() => {{ shown.model._handle_comm_msg({{ view: card(2, '', {UNKNOWN}) }}) }}")
    cover = host.get_by_role("status").filter(has_text="This could not be drawn")
    cover.wait_for()
    host.evaluate("() => { shown.model._handle_comm_msg({ view: card(3, 'Newer') }) }")
    host.get_by_role("heading", name="Newer").wait_for()
    cover.wait_for(state="hidden")


def test_saving_keeps_the_bytes_of_a_state(host):
    kept = host.evaluate(
        """() => {
             const packed = new DataView(new ArrayBuffer(3));
             const { serialize } = widgets.ControlPanelModel.serializers.readout;
             return serialize({ number: 1, packed }).packed === packed;
           }"""
    )
    assert kept
