// Tables as crictl prints them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"

namespace plim::cli {

// Columns are at least 20 wide and have three spaces between them, except the last.
std::string crictl_table(const std::vector<std::vector<std::string>>& rows);

// "Less than a second", "About a minute", "3 hours".
std::string crictl_age(std::chrono::nanoseconds age);

struct CrictlStyle {
  bool digests = false, pinned = false, no_trunc = false;
};

// These take the JSON of crictl_messages.hpp, sorted.
std::string images_table(const json::array& images, const CrictlStyle& style);
std::string containers_table(const json::array& containers, const CrictlStyle& style, WallTime now);
std::string pods_table(const json::array& pods, const CrictlStyle& style, WallTime now);

// By name, as crictl sorts images.
void sort_images(json::array& images);
// Newest first.
void sort_by_creation(json::array& items);

}  // namespace plim::cli
