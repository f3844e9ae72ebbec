// Events are awaited with limits that only end a test that has failed anyway.
import { configure } from "@testing-library/react";

configure({ asyncUtilTimeout: 20_000 });
