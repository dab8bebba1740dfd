/** The Lab panel of mlsys_widgets, for JupyterLab and Notebook 7. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';
import * as actions from './actions';
import { nextStep } from './contract';
import { Follower } from './follow';
import { handIn } from './handin';
import { labIcon, labPicture } from './icons';
import { LabPanel } from './panel';
import { redrawLost } from './redraw';
import { LabStatus } from './status';
import { Unsaved } from './unsaved';
import { Watch } from './watch';

const COMMANDS = {
  openLab: 'mlsys:open-lab',
  showPanel: 'mlsys:show-panel',
  goToNext: 'mlsys:go-to-next-step',
  toggleCode: 'mlsys:toggle-instrument-code',
  handIn: 'mlsys:hand-in',
  beginAgain: 'mlsys:restart-lab'
};
const CATEGORY = 'Labs';
/** Remembers that the panel was shown once, so that it stays closed once you close it. */
const SHOWN = 'mlsys-widgets-lab:shown';

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'mlsys-widgets-lab:panel',
  description: 'Progress, sealed predictions and the Design Ledger beside a lab.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ILauncher, ILayoutRestorer, IStateDB, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    restorer: ILayoutRestorer | null,
    memory: IStateDB | null,
    statusBar: IStatusBar | null
  ): void => {
    const { commands, shell } = app;
    const follower = new Follower(tracker);
    const watch = new Watch();
    const unsaved = new Unsaved();
    watch.changed.connect(() => unsaved.note(follower.lab, watch.report));
    const run = (command: string) => () => void commands.execute(command);

    const panel = new LabPanel(follower, watch, {
      openLab: run(COMMANDS.openLab),
      goTo: step => follower.lab && void actions.goTo(follower.lab, step),
      toggleCode: run(COMMANDS.toggleCode),
      codeIsHidden: () => follower.lab !== null && actions.codeIsHidden(follower.lab),
      beginAgain: run(COMMANDS.beginAgain),
      handIn: run(COMMANDS.handIn)
    });
    shell.add(panel, 'right', { rank: 450 });
    restorer?.add(panel, panel.id);

    tracker.widgetAdded.connect((_, notebook) => void redrawLost(notebook));

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
      // In Notebook 7 this would hide a panel that is visible.
      if (!panel.isVisible) {
        shell.activateById(panel.id);
      }
      panel.activate();
    };

    // The only place that decides whether the server is asked at all.
    const look = (): void => {
      const visible = panel.isVisible || (status.isAttached && status.isVisible);
      watch.look(follower.lab?.path ?? null, {
        active: visible && document.visibilityState === 'visible',
        ledgers: panel.isVisible
      });
    };
    const another = (): void => {
      statusChanged.emit();
      look();
      commands.notifyCommandChanged();
      if (follower.lab && memory) {
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
    document.addEventListener('visibilitychange', look);
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
        const next = follower.lab && nextStep(follower.lab.steps, watch.report);
        return follower.lab && next ? actions.goTo(follower.lab, next) : undefined;
      }
    });
    commands.addCommand(COMMANDS.toggleCode, {
      label: () =>
        follower.lab && actions.codeIsHidden(follower.lab)
          ? 'Show Instrument Code'
          : 'Hide Instrument Code',
      isEnabled: () => follower.lab !== null && follower.lab.instruments.length > 0,
      execute: () => {
        if (follower.lab) {
          actions.toggleCode(follower.lab);
          commands.notifyCommandChanged(COMMANDS.toggleCode);
          panel.update();
        }
      }
    });
    commands.addCommand(COMMANDS.handIn, {
      label: 'Hand in the Lab…',
      isEnabled: hasLab,
      execute: () => (follower.lab ? handIn(follower.lab) : undefined)
    });
    commands.addCommand(COMMANDS.beginAgain, {
      label: 'Restart the Lab from the Beginning…',
      isEnabled: hasLab,
      execute: () => (follower.lab ? actions.restartLab(follower.lab) : undefined)
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
  }
};

async function showOnce(memory: IStateDB, show: () => void): Promise<void> {
  if ((await memory.fetch(SHOWN)) === undefined) {
    await memory.save(SHOWN, true);
    show();
  }
}

export default plugin;
