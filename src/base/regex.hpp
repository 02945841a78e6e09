// Regular expressions that users write: RE2 syntax, which Go and therefore Kubernetes use. Matching
// takes time linear in the text, so a hostile pattern cannot stop a daemon.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace re2 {
class RE2;
}

namespace plim {

// A compiled expression. Copies share it; any thread may use it.
class Regex {
 public:
  // Code::invalid with the text of Go's regexp package: "error parsing regexp: missing closing ):
  // `(`". Patterns that need more than 32 MiB when compiled are rejected too.
  static Result<Regex> compile(std::string_view pattern);

  bool full_match(std::string_view text) const;     // the pattern matches all of the text
  bool prefix_match(std::string_view text) const;   // it matches from the start of the text
  bool partial_match(std::string_view text) const;  // it matches somewhere in the text

  // The same with what matched: captures[0] is the whole match, captures[i] group i. Entries of
  // groups that took no part are empty. At most 16 are filled in.
  using Captures = std::span<std::string_view>;
  bool full_match(std::string_view text, Captures captures) const;
  bool prefix_match(std::string_view text, Captures captures) const;
  bool partial_match(std::string_view text, Captures captures) const;

  unsigned groups() const;

  // Replaces every match, as Python's re.sub: in the replacement "\1" to "\9" are groups, "\0" is
  // the whole match and a backslash before another character is dropped.
  std::string replace_all(std::string_view text, std::string_view replacement) const;

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace plim
