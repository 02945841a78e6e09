// As miscompiled.cpp, in a template: clang sees its co_await as one of an unknown type.
#pragma once

#include <string>
#include <utility>

#include "base/task.hpp"

namespace plim {

template <class T>
struct Wrapped {
  std::string text;
  T value;
};

template <class T>
Task<int> take(Wrapped<T> wrapped);

template <class T>
Task<int> lambda_in_template(std::string text, T value) {
  co_return co_await take<T>([text, value] { return Wrapped<T>(); }());
}

template <class T>
Task<int> braced_in_template(T value) {
  co_return co_await take<T>({"x", value});
}

template <class T>
Task<int> aggregate_in_template(Task<T> inner) {
  Wrapped<T> holder{.text = "x", .value = co_await std::move(inner)};
  co_return co_await take(std::move(holder));
}

template <class T>
Task<T> conditional_in_template(bool which, Task<T> inner) {
  co_return which ? co_await std::move(inner) : T();
}

// What is allowed: a name first, then the await.
template <class T>
Task<int> named_in_template(T value) {
  Wrapped<T> wrapped{"x", std::move(value)};
  co_return co_await take<T>(std::move(wrapped));
}

}  // namespace plim
