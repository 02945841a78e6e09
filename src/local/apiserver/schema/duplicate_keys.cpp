#include "local/apiserver/schema/duplicate_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include <fmt/format.h>

#include "base/json.hpp"

namespace plim::local::apiserver {
namespace {

struct Level {
  bool is_object = false;
  std::size_t index = 0;  // in an array
  std::string key;        // in an object: the member being read
  std::set<std::string, std::less<>> keys;
};

// Scans valid JSON, so every structural character outside strings can be trusted.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  std::vector<std::string> run() {
    while (at_ < text_.size()) step();
    return std::move(found_);
  }

 private:
  void step() {
    switch (char c = text_[at_]) {
      case '"': {
        std::string_view literal = string_literal();
        if (expects_key_) take_key(literal);
        return;
      }
      case '{':
      case '[':
        levels_.push_back({.is_object = c == '{', .index = 0, .key = {}, .keys = {}});
        expects_key_ = c == '{';
        break;
      case '}':
      case ']':
        if (!levels_.empty()) levels_.pop_back();
        expects_key_ = false;
        break;
      case ',':
        if (levels_.empty()) break;
        ++levels_.back().index;
        expects_key_ = levels_.back().is_object;
        break;
      default:
        break;
    }
    ++at_;
  }

  // The string with its quotes; moves to the position after it.
  std::string_view string_literal() {
    std::size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(start, at_ - start);
  }

  void take_key(std::string_view literal) {
    expects_key_ = false;
    if (levels_.empty() || literal.size() < 2) return;
    Level& level = levels_.back();
    level.key = literal.substr(1, literal.size() - 2);
    if (literal.find('\\') != literal.npos)
      if (auto parsed = parse_json(literal); parsed && parsed->is_string())
        level.key = std::string(parsed->get_string());
    if (level.keys.insert(level.key).second) return;
    std::string path = path_here();
    if (std::find(found_.begin(), found_.end(), path) == found_.end())
      found_.push_back(std::move(path));
  }

  std::string path_here() const {
    std::string path;
    for (const Level& level : levels_)
      if (!level.is_object)
        path += fmt::format("[{}]", level.index);
      else
        path += path.empty() ? level.key : "." + level.key;
    return path;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool expects_key_ = false;
  std::vector<Level> levels_;
  std::vector<std::string> found_;
};

// Counts the colons outside strings: one for each key.
std::size_t colons_in(std::string_view text) {
  std::size_t out = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ':') ++out;
    if (text[at] != '"') continue;
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\') ++at;
  }
  return out;
}

std::size_t members_of(const json::value& value) {
  std::size_t out = 0;
  if (const json::object* object = value.if_object()) {
    out = object->size();
    for (const auto& member : *object) out += members_of(member.value());
  } else if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) out += members_of(element);
  }
  return out;
}

}  // namespace

std::vector<std::string> find_duplicate_keys(std::string_view text, const json::value& parsed) {
  // Nearly all texts have no duplicates, and comparing the counts shows that.
  if (colons_in(text) == members_of(parsed)) return {};
  return Scan(text).run();
}

}  // namespace plim::local::apiserver
