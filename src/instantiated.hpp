// Instantiations that many files need. A build that compiles the code of its precompiled headers
// once (PLIM_PRECOMPILE_CODE) instantiates these templates there, and in no other file.
#pragma once

#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

template class std::basic_string<char>;
template class std::vector<std::string>;
template class std::vector<std::string_view>;
template class std::vector<std::pair<std::string, std::string>>;
template class std::vector<int>;
template class std::vector<unsigned>;
template class std::vector<long>;
template class std::vector<unsigned long>;
template class std::vector<boost::json::value>;
template class std::deque<std::string>;
template class std::set<std::string>;
template class std::map<std::string, std::string>;
template class std::map<std::string, int>;

namespace plim {

// Never called. What fmt generates depends on the types of the arguments; these are common.
template <typename... Rest>
void instantiate_formats_with(Rest&... rest) {
  std::string text;
  const std::string fixed;
  std::string_view view;
  const std::string_view fixed_view;
  const char* literal = "";
  unsigned long count = 0;
  long number = 0;
  int small = 0;
  (void)fmt::format("{}", text, rest...);
  (void)fmt::format("{}", fixed, rest...);
  (void)fmt::format("{}", view, rest...);
  (void)fmt::format("{}", fixed_view, rest...);
  (void)fmt::format("{}", literal, rest...);
  (void)fmt::format("{}", count, rest...);
  (void)fmt::format("{}", number, rest...);
  (void)fmt::format("{}", small, rest...);
}

inline void instantiate_formats() {
  std::string text;
  const std::string fixed;
  std::string_view view;
  const std::string_view fixed_view;
  unsigned long count = 0;
  int small = 0;
  instantiate_formats_with();
  instantiate_formats_with(text);
  instantiate_formats_with(fixed);
  instantiate_formats_with(view);
  instantiate_formats_with(fixed_view);
  instantiate_formats_with(count);
  instantiate_formats_with(small);
  fmt::format_to(std::back_inserter(text), "{:>{}}", view, small);
  fmt::format_to(std::back_inserter(text), "{}", fmt::join(std::vector<std::string>(), ","));
}

}  // namespace plim
