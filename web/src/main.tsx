import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Store } from "./store";
import { App } from "./view/app";
import { StoreContext } from "./view/context";
import { startPaper } from "./view/paper";
import { startTheme } from "./view/theme";

startTheme();
startPaper();
const store = new Store();
render(
  <StoreContext.Provider value={store}>
    <App />
  </StoreContext.Provider>,
  document.getElementById("app")!,
);
store.start();
