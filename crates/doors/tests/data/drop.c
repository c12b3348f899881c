/* A ball over a floor: the collider asked forwards, backwards and twice, as a solver asks; then the scene stepped and rolled back. */
#include "tippe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEED(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s: %s\n", __LINE__, #condition, tippe_error()); \
            return 1; \
        } \
    } while (0)

static double depth_at(const tippe_collider *collider, int floor, int ball, double z) {
    const double ground[7] = {0, 0, 0, 1, 0, 0, 0};
    const double above[7] = {0, 0, z, 1, 0, 0, 0};
    tippe_point point;
    tippe_contact contact;
    if (tippe_collider_pair(collider, floor, ground, ball, above, 1, &point, &contact) != 0) return NAN;
    return contact.depth;
}

int main(void) {
    tippe_collider *collider = NULL;
    NEED(tippe_collider_open("bouncing_ball", &collider) == 0);
    const int floor = tippe_collider_body(collider, "floor"), ball = tippe_collider_body(collider, "ball");
    NEED(floor >= 0 && ball >= 0 && tippe_collider_count(collider) == 2);
    NEED(strcmp(tippe_collider_name(collider, ball), "ball") == 0);
    const double radius = depth_at(collider, floor, ball, 0.0);
    const double asked[] = {1.0, radius, 0.5 * radius, radius, 1.0, radius + 1e-12};
    for (int i = 0; i < 6; i++) {
        NEED(fabs(depth_at(collider, floor, ball, asked[i]) - (radius - asked[i])) < 1e-14);
    }
    NEED(tippe_collider_body(collider, "bal") == -1 && strstr(tippe_error(), "there is no body \"bal\"") != NULL);
    const double bad[7] = {0, 0, 0, 0, 0, 0, 0};
    NEED(tippe_collider_pair(collider, floor, bad, ball, bad, 0, NULL, NULL) == 1 && strstr(tippe_error(), "is no pose"));
    tippe_collider_close(collider);

    tippe_run *run = NULL;
    const char *sets[] = {"e = 0.5"};
    NEED(tippe_open("bouncing_ball", "precise", sets, 1, &run) == 0);
    const int z = tippe_find(run, "ball.position.z");
    NEED(z >= 0 && strcmp(tippe_unit(run, z), "m") == 0 && strcmp(tippe_role(run, z), "output") == 0);
    int event = 0;
    NEED(tippe_advance_to_event(run, 2.0, &event) == 0 && event == 1 && tippe_events(run) > 0);
    double start, time = 0, first, again;
    const char *kind = NULL;
    NEED(tippe_get(run, &z, 1, &start) == 0);
    NEED(tippe_event(run, 0, &time, &kind) == 0 && time == tippe_time(run));
    printf("%s at %.9f s, height %.9f m\n", kind, time, start);
    tippe_state *state = NULL;
    NEED(tippe_save(run, &state) == 0);
    NEED(tippe_advance(run, 1.0) == 0 && tippe_get(run, &z, 1, &first) == 0);
    NEED(tippe_restore(run, state) == 0 && tippe_time(run) == time);
    NEED(tippe_advance(run, 0.7) == 0 && tippe_advance(run, 1.0) == 0 && tippe_get(run, &z, 1, &again) == 0);
    NEED(memcmp(&first, &again, sizeof first) == 0);
    NEED(tippe_advance(run, 0.5) == 1 && strstr(tippe_error(), "cannot be reached") != NULL);
    NEED(tippe_set(run, &z, 1, &start) == 1 && strstr(tippe_error(), "only inputs") != NULL);
    tippe_state_free(state);
    tippe_close(run);
    NEED(tippe_open("no_such_scene", NULL, NULL, 0, &run) == 1 && strstr(tippe_error(), "no_such_scene") != NULL);
    return 0;
}
