// What tools/lint must report; tests/e2e/tools/gates_test runs it.
#pragma once

namespace plim {

struct Finding {
  Finding(int number) : number(number) {}

  int number;
};

}  // namespace plim
