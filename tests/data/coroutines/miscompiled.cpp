// One of each expression that tools/check-coroutines must find; g++ 12 would free their temporaries
// twice.
#include <string>

#include "base/task.hpp"

namespace plim {

struct Options {
  std::string text;
  int count = 0;
};

Task<int> use(Options options);
Task<Options> make(std::string text);

Task<int> lambda(std::string text) {
  co_return co_await use([text] { return Options(); }());
}

Task<int> braced() {
  co_return co_await use(Options{.text = "x", .count = 1});
}

Task<int> aggregate_from_await() {
  Options holder{.text = "x", .count = co_await use(Options())};
  co_return holder.count;
}

Task<Options> conditional(bool which) {
  co_return which ? co_await make("x") : Options();
}

// What is allowed: a name first, then the await.
Task<int> named() {
  Options options{.text = "x", .count = 1};
  co_return co_await use(std::move(options));
}

}  // namespace plim
