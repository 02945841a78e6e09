#include "placement/label_texts.hpp"

namespace plim::placement {

std::uint32_t LabelTexts::number_of(std::string_view text) {
  if (auto at = numbers_.find(text); at != numbers_.end()) return at->second;
  auto number = static_cast<std::uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  entries_[number].text = &numbers_.emplace(text, number).first->first;
  return number;
}

std::uint32_t LabelTexts::keep(std::string_view text) {
  const std::uint32_t number = number_of(text);
  entries_[number].kept = true;
  return number;
}

std::uint32_t LabelTexts::hold(std::string_view text) {
  const std::uint32_t number = number_of(text);
  ++entries_[number].holds;
  return number;
}

void LabelTexts::drop(std::uint32_t number) {
  Entry& entry = entries_[number];
  if (--entry.holds != 0 || entry.kept) return;
  numbers_.erase(numbers_.find(*entry.text));
  entry = {};
  free_.push_back(number);
}

std::uint32_t LabelTexts::find(std::string_view text) const {
  auto at = numbers_.find(text);
  return at == numbers_.end() ? 0 : at->second + 1;
}

std::uint32_t LabelColumn::find(LabelValue value) const {
  auto at = numbers_.find(value);
  return at == numbers_.end() ? 0 : at->second;
}

void LabelColumn::set(NodeIndex row, LabelValue value) {
  nodes_ += std::size_t{value != 0} - std::size_t{by_row_[row] != 0};
  if (std::uint32_t old = by_row_[row]; old != 0 && --values_[old].nodes == 0) {
    numbers_.erase(values_[old].value);
    values_[old].value = 0;
    free_.push_back(old);
  }
  by_row_[row] = 0;
  if (value == 0) return;
  auto [at, is_new] = numbers_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
  if (is_new && free_.empty()) {
    values_.emplace_back();
  } else if (is_new) {
    at->second = free_.back();
    free_.pop_back();
  }
  values_[at->second].value = value;
  ++values_[at->second].nodes;
  by_row_[row] = at->second;
}

}  // namespace plim::placement
