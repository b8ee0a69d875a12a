/* headwater: where a river spill came from, when, how much, and how sure.
 *
 * A river (river.h) is described once. A method (method.h) takes readings (reading.h) one by one and
 * gives an estimate after each. io.h reads and writes files; transport.h is the physics. Include this
 * header for all of it.
 */
#ifndef HEADWATER_H
#define HEADWATER_H

#include "headwater/advice.h"
#include "headwater/columns.h"
#include "headwater/estimate.h"
#include "headwater/fisher.h"
#include "headwater/io.h"
#include "headwater/method.h"
#include "headwater/outlook.h"
#include "headwater/plan.h"
#include "headwater/reading.h"
#include "headwater/regret.h"
#include "headwater/river.h"
#include "headwater/rng.h"
#include "headwater/rows.h"
#include "headwater/status.h"
#include "headwater/substance.h"
#include "headwater/transport.h"
#include "headwater/version.h"

#endif
