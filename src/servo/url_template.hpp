// The receiver's URL with placeholders: {acct}, {app_id}, {namespace}, {pod}, {uid}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::servo {

// The values of the placeholders for one message.
struct Subject {
  std::string app;
  std::string ns = {}, pod = {}, uid = {};
};

// An immutable value.
class UrlTemplate {
 public:
  struct Target {
    std::string path;   // begins with '/'
    std::string query;  // without '?'
  };

  // `{{` and `}}` are braces. Errors, with the column: an unknown placeholder, a single brace, a
  // scheme other than http and https, {acct} without an account. Host and port may contain only
  // {acct}: fields of a run must not choose the host that receives the token.
  static Result<UrlTemplate> parse(std::string_view text, std::string_view account);

  const std::string& origin() const { return origin_; }  // "https://host:port"

  // Each value is percent-encoded as one segment of the path.
  Target expand(const Subject& subject) const;

 private:
  enum class Field { none, app, ns, pod, uid };

  struct Part {
    std::string text;  // before the field
    Field field = Field::none;
  };

  std::string origin_;
  std::vector<Part> parts_;
};

}  // namespace plim::servo
