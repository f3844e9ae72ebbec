// The entry point of the console: theme, keys, queries, router.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ShoalError } from "@shoal-dev/client";
import { listenToInput } from "./app/last-input";
import { router } from "./app/router";
import { watchTheme } from "./app/settings";
import { listenToKeys } from "./app/shortcuts";
import "./styles.css";

watchTheme();
listenToKeys();
listenToInput();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Calls without a response are retried; refused calls are not.
      retry: (count, error) => count < 2 && ShoalError.from(error).status === 0,
    },
  },
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
