/** The Lab panel of mlsys_widgets, for JupyterLab and Notebook 7. */
import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { CommandToolbarButton, ICommandPalette } from '@jupyterlab/apputils';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';
import * as actions from './actions';
import { LabBanner } from './banner';
import { Beside } from './beside';
import { aboutLab, isBegun } from './contract';
import { DeeperSections } from './deeper';
import { showEssays } from './essays';
import { Follower } from './follow';
import { handIn } from './handin';
import { labIcon, labPicture } from './icons';
import { checkMissing } from './missing';
import { NarrowBar, NarrowView } from './narrow';
import { LabPanel } from './panel';
import { Presenting } from './presenting';
import { ReadingView } from './reading';
import { redrawLost } from './redraw';
import { saveInTurn } from './saving';
import { foldScratch } from './scratch';
import { goToCell } from './scroll';
import { askForSecondLook, offerSecondLooks } from './second_look';
import { isNarrow, makeRoom } from './sidebars';
import { beSite } from './site';
import { LabStart } from './start';
import { LabStatus } from './status';
import { lookAgain, ResultsFetcher, ToldKernels } from './told';
import { Unsaved } from './unsaved';
import { Watch } from './watch';
import { nextOnWay } from './way';
import { widgets } from './widgets/plugin';

const COMMANDS = {
  openLab: 'mlsys:open-lab',
  showPanel: 'mlsys:show-panel',
  goToNext: 'mlsys:go-to-next-step',
  start: 'mlsys:start',
  checkMissing: 'mlsys:check-what-is-missing',
  handIn: 'mlsys:hand-in',
  secondLook: 'mlsys:second-look',
  toggleReading: 'mlsys:toggle-reading-view',
  toggleBeside: 'mlsys:toggle-instrument-beside',
  togglePresenting: 'mlsys:toggle-presenting',
  beginAgain: 'mlsys:restart-lab'
};
/** For whoever teaches; only their server says where that page is. */
const RUN_COURSE = 'mlsys:run-course';
const CATEGORY = 'Labs';
/** Remembers that the panel was shown once, so that it stays closed once you close it. */
const SHOWN = 'mlsys-widgets-lab:shown';

/** Whether a key means to save, in a box or button of a card: JupyterLab hears no shortcuts there. */
function savesFromBox(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  const accel = (ctrlKey || metaKey) && !altKey && !shiftKey;
  return (
    accel &&
    key.toLowerCase() === 's' &&
    target instanceof Element &&
    target.closest('.mlsys-lab, .mlsys-instrument') !== null &&
    target.closest('[data-lm-suppress-shortcuts]') !== null
  );
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'mlsys-widgets-lab:panel',
  description: 'Progress, sealed predictions and the Design Ledger beside a lab.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ILabShell, ILauncher, ILayoutRestorer, IStateDB, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    labShell: ILabShell | null,
    launcher: ILauncher | null,
    restorer: ILayoutRestorer | null,
    memory: IStateDB | null,
    statusBar: IStatusBar | null
  ): void => {
    const { commands, shell } = app;
    beSite(app, tracker);
    const follower = new Follower(tracker);
    const watch = new Watch();
    const unsaved = new Unsaved();
    const told = new ToldKernels();
    const results = new ResultsFetcher();
    watch.changed.connect(() => {
      unsaved.note(follower.lab, watch.report);
      showEssays(follower.lab, watch.report);
      told.tell(follower.lab, watch.report);
      results.follow(follower.lab, watch.report);
    });
    const run = (command: string) => () => void commands.execute(command);
    const starts = new Map<NotebookPanel, LabStart>();
    const startOf = (): LabStart | null =>
      (follower.lab && starts.get(follower.lab.panel)) ?? null;
    const reading = new ReadingView(memory);
    const deeper = new DeeperSections();
    const beside = new Beside(app, labShell, follower, startOf);
    const presenting = new Presenting();

    const panel = new LabPanel(follower, watch, {
      openLab: run(COMMANDS.openLab),
      goTo: step => {
        narrow?.closePanel();
        return follower.lab && void actions.goTo(follower.lab, step);
      },
      showResults: async step => {
        const { lab } = follower;
        const start = startOf();
        narrow?.closePanel();
        if (lab && start?.stage === 'waiting') {
          await start.run();
        }
        if (lab) {
          lookAgain(lab);
          await actions.goTo(lab, step);
        }
      },
      goToNext: () => {
        narrow?.closePanel();
        void commands.execute(COMMANDS.goToNext);
      },
      checkMissing: run(COMMANDS.checkMissing),
      handIn: run(COMMANDS.handIn),
      toggleReading: run(COMMANDS.toggleReading),
      isReading: () => reading.isOn,
      toggleBeside: run(COMMANDS.toggleBeside),
      isBeside: () => beside.isOpen,
      besideIsOffered: () => beside.isOffered,
      present: run(COMMANDS.togglePresenting),
      beginAgain: run(COMMANDS.beginAgain),
      startOf
    });
    const putPanel = (): void => shell.add(panel, 'right', { rank: 450 });
    putPanel();
    restorer?.add(panel, panel.id);

    const narrow = labShell && new NarrowView(app, labShell, follower, panel, putPanel);

    const changed = (): void => {
      panel.update();
      commands.notifyCommandChanged();
    };
    reading.changed.connect(changed);
    beside.changed.connect(changed);
    presenting.changed.connect(changed);

    const open = async (notebook: NotebookPanel): Promise<void> => {
      await notebook.context.ready;
      if (notebook.isDisposed || aboutLab(notebook.context.model) === null) {
        return;
      }
      saveInTurn(notebook.context);
      const start = new LabStart(notebook, app.serviceManager.contents);
      starts.set(notebook, start);
      notebook.disposed.connect(() => starts.delete(notebook));
      start.changed.connect(changed);
      notebook.addClass('mlsys-LabNotebook');
      if (narrow) {
        notebook.contentHeader.addWidget(
          new NarrowBar(narrow, () => status.words.words, [follower.changed, watch.changed])
        );
      }
      notebook.contentHeader.addWidget(new LabBanner(start));
      for (const [name, id] of [
        ['mlsys-beside', COMMANDS.toggleBeside],
        ['mlsys-reading', COMMANDS.toggleReading]
      ]) {
        const button = new CommandToolbarButton({ commands, id, args: { isToolbar: true } });
        // Near the front: what does not fit into a narrow toolbar is folded from its end.
        if (!notebook.toolbar.insertAfter('save', name, button)) {
          notebook.toolbar.addItem(name, button);
        }
      }
      reading.add(notebook);
      deeper.add(notebook);
      foldScratch(notebook);
      // The cover of a lab has a button, and we know where it leads: before anything is done, to what
      // stands below the cover, such as the first message, and not past it to the first step.
      notebook.node.addEventListener('mlsys-next', ({ target }) => {
        const cover = notebook.content.widgets.findIndex(cell => cell.node.contains(target as Node));
        if (isBegun(watch.report) || cover < 0) {
          void commands.execute(COMMANDS.goToNext);
        } else {
          void goToCell(notebook, cover + 1);
        }
      });
      redrawLost(notebook);
      if (labShell) {
        await app.restored;
        makeRoom(labShell);
      }
    };
    tracker.widgetAdded.connect((_, notebook) => void open(notebook));

    const status = new LabStatus(follower, watch, run(COMMANDS.showPanel));
    const statusChanged = new Signal<LabStatus, void>(status);
    statusBar?.registerStatusItem('mlsys-widgets-lab:status', {
      item: status,
      align: 'left',
      rank: 90,
      isActive: () => follower.lab !== null,
      activeStateChanged: statusChanged
    });

    const show = (): void => {
      if (narrow?.isOn) {
        narrow.openPanel();
        return;
      }
      // In Notebook 7 this would hide a panel that is visible.
      if (!panel.isVisible) {
        shell.activateById(panel.id);
      }
      panel.activate();
    };

    // The only place that decides whether the server is asked at all.
    const look = (): void => {
      const visible = panel.isVisible || narrow?.isOn || (status.isAttached && status.isVisible);
      watch.look(follower.lab?.path ?? null, {
        active: visible && document.visibilityState === 'visible',
        ledgers: panel.isVisible
      });
    };
    const another = (): void => {
      statusChanged.emit();
      look();
      results.fetch(follower.lab);
      commands.notifyCommandChanged();
      if (follower.lab && memory && !isNarrow()) {
        void showOnce(memory, () => {
          show();
          // Whoever opens a lab wants to read it: the focus stays there.
          follower.lab?.panel.activate();
        });
      }
    };
    follower.changed.connect(another);
    panel.seen.connect(look);
    status.seen.connect(look);
    narrow?.changed.connect(look);
    document.addEventListener('visibilitychange', () => {
      look();
      if (document.visibilityState === 'visible') {
        results.fetch(follower.lab);
      }
    });
    document.addEventListener('keydown', event => {
      if (savesFromBox(event)) {
        event.preventDefault();
        void commands.execute('docmanager:save');
      }
    });
    void app.restored.then(another);

    const hasLab = (): boolean => follower.lab !== null;
    commands.addCommand(COMMANDS.openLab, {
      label: args => (args.isPalette ? 'Open a Lab…' : 'Open a lab'),
      caption: 'Choose one of the labs on this server',
      icon: args => (args.isPalette ? undefined : labIcon),
      execute: async () => {
        const path = await actions.chooseLab();
        return path === null ? null : commands.execute('docmanager:open', { path });
      }
    });
    commands.addCommand(COMMANDS.showPanel, {
      label: 'Show the Lab Panel',
      execute: show
    });
    commands.addCommand(COMMANDS.goToNext, {
      label: 'Go to the Next Step of the Lab',
      isEnabled: hasLab,
      execute: () => {
        const next = follower.lab && nextOnWay(follower.lab.way, watch.report);
        return follower.lab && next ? actions.leadTo(follower.lab, next) : undefined;
      }
    });
    commands.addCommand(COMMANDS.start, {
      label: () => (startOf()?.reason === 'new' ? 'Start the Lab' : 'Resume the Lab'),
      isEnabled: () => startOf()?.stage !== undefined && startOf()?.stage !== 'running',
      execute: () => startOf()?.run()
    });
    commands.addCommand(COMMANDS.checkMissing, {
      label: 'Check What Is Missing in the Lab',
      isEnabled: hasLab,
      execute: () => (follower.lab ? checkMissing(follower.lab) : undefined)
    });
    commands.addCommand(COMMANDS.toggleReading, {
      label: args =>
        reading.isOn
          ? args.isToolbar
            ? 'Show code'
            : 'Show the Code of the Lab'
          : args.isToolbar
            ? 'Reading view'
            : 'Reading View of the Lab',
      caption: () =>
        reading.isOn ? 'Show the code of the lab’s own cells' : 'Hide the code of the lab’s own cells',
      isEnabled: hasLab,
      execute: () => reading.toggle()
    });
    commands.addCommand(COMMANDS.toggleBeside, {
      label: args => (args.isToolbar ? 'Instrument beside' : 'Instrument Beside the Lab'),
      caption: 'Show the instrument of this part of the lab beside the notebook',
      isToggled: () => beside.isOpen,
      isVisible: () => beside.isOffered || beside.isOpen,
      isEnabled: () => beside.isOffered || beside.isOpen,
      execute: () => beside.toggle()
    });
    commands.addCommand(COMMANDS.togglePresenting, {
      label: 'Present the Lab',
      caption: 'Show the lab in large type, as for a lecture hall',
      isEnabled: hasLab,
      isToggled: () => follower.lab !== null && presenting.isOn(follower.lab.panel),
      execute: () => follower.lab && presenting.toggle(follower.lab.panel)
    });
    commands.addCommand(COMMANDS.handIn, {
      label: 'Hand in the Lab…',
      isEnabled: hasLab,
      execute: () => (follower.lab ? handIn(follower.lab) : undefined)
    });
    offerSecondLooks(app);
    commands.addCommand(COMMANDS.secondLook, {
      label: 'Ask for a Second Look at the Lab…',
      isEnabled: hasLab,
      execute: () => (follower.lab ? askForSecondLook(follower.lab.path) : undefined)
    });
    commands.addCommand(COMMANDS.beginAgain, {
      label: 'Restart the Lab from the Beginning…',
      isEnabled: hasLab,
      execute: () => (follower.lab ? actions.restartLab(follower.lab, startOf()) : undefined)
    });

    for (const command of Object.values(COMMANDS)) {
      palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
    }
    // Among the notebooks, where it is seen; a category of its own would come last.
    launcher?.add({
      command: COMMANDS.openLab,
      category: 'Notebook',
      rank: 1000,
      kernelIconUrl: labPicture
    });
    const staffPage = PageConfig.getOption('mlsysStaffPage');
    if (staffPage) {
      commands.addCommand(RUN_COURSE, {
        label: 'Run the course',
        caption: 'Dates, people, grading, second looks and releases, on one page',
        icon: args => (args.isPalette ? undefined : labIcon),
        execute: () => void window.open(URLExt.join(PageConfig.getBaseUrl(), staffPage))
      });
      palette?.addItem({ command: RUN_COURSE, category: CATEGORY, args: { isPalette: true } });
      launcher?.add({ command: RUN_COURSE, category: 'Other', rank: 0 });
    }
  }
};

async function showOnce(memory: IStateDB, show: () => void): Promise<void> {
  if ((await memory.fetch(SHOWN)) === undefined) {
    await memory.save(SHOWN, true);
    show();
  }
}

export default [plugin, widgets];
