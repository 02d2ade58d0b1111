// In place of the package is-in-ci in the bundle: ink would draw nothing where CI is set, and whether there is a
// terminal has been asked before it is loaded.
export default false;
