// Tells a page with RequireJS where our widgets are.
define(() => {
  window.requirejs?.config({ map: { '*': { 'mlsys-widgets-lab': 'nbextensions/mlsys-widgets-lab/index' } } });
  return { load_ipython_extension() {} };
});
