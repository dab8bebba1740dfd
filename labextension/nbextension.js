// Builds the widgets for pages that load no extensions of JupyterLab, such as VS Code and the classic
// notebook: one AMD module that brings its style along. The argument is the folder to write to.
const path = require('path');
const { rspack } = require('@rspack/core');
const { merge } = require('webpack-merge');
const base = require('@jupyter/builder/lib/webpack.config.base');
const { optimization } = require('./bundle.config.js');

const [folder] = process.argv.slice(2);
const config = merge(base, {
  mode: 'production',
  entry: path.join(__dirname, 'lib', 'widgets', 'index.js'),
  output: { filename: 'index.js', path: path.resolve(folder), library: { type: 'amd' } },
  externals: ['@jupyter-widgets/base'],
  optimization
});

rspack(config, (error, stats) => {
  if (error || stats.hasErrors()) {
    console.error(error ?? stats.toString('errors-only'));
    process.exitCode = 1;
  }
});
